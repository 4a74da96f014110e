import { jvmPeers } from '../peers/jvm.js';
import { shareLocksWithProcesses } from './processes-of-both.js';

shareLocksWithProcesses(jvmPeers.jedis);
