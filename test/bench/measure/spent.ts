import { sentCommands } from './sent-commands.js';
import { at } from './window.js';

/** What a process spent. */
export interface Spent {
  /** Processor time, in µs. */
  readonly cpu: number;
  /** Commands sent to Redis. */
  readonly commands: number;
}

/** From a moment of the shared clock on: what was spent since, whenever it is asked. */
export async function spentFrom(moment: number): Promise<() => Spent> {
  await at(moment);
  const before = process.cpuUsage();
  const sent = sentCommands();
  return () => {
    const { user, system } = process.cpuUsage(before);
    return { cpu: user + system, commands: sentCommands() - sent };
  };
}

/** Of all processes together. */
export function sum(parts: readonly Spent[]): Spent {
  return {
    cpu: parts.reduce((total, { cpu }) => total + cpu, 0),
    commands: parts.reduce((total, { commands }) => total + commands, 0),
  };
}
