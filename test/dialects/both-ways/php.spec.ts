import { shareLocks } from '../both-ways.js';
import { peers } from '../peers/index.js';
import { Sides } from '../sides.js';

shareLocks(new Sides(), peers.php);
