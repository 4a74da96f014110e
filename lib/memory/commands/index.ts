export type { Channels, Reply } from './command.js';
import { RefusedCommand } from '../keyspace.js';
import { collectionCommands } from './collections.js';
import type { Command, Commands } from './command.js';
import { keyCommands } from './keys.js';
import { sortedSetCommands } from './sorted-sets.js';
import { stringCommands } from './strings.js';

const channelCommands: Commands = {
  PUBLISH: (_, [channel, text], channels) => channels.publish(channel!, text!),
  SPUBLISH: (_, [channel, text], channels) => channels.publish(channel!, text!),
  PUBSUB: (_, [, ...names], channels) =>
    names.flatMap((name) => [name, channels.subscribers(name)]),
};

const COMMANDS: Commands = {
  ...keyCommands,
  ...stringCommands,
  ...collectionCommands,
  ...sortedSetCommands,
  ...channelCommands,
};

/** @throws RefusedCommand for a command that the server in memory lacks. */
export function commandOf(name: string): Command {
  const command = COMMANDS[name.toUpperCase()];
  if (command) return command;
  throw new RefusedCommand(`ERR unknown command '${name}'`);
}
