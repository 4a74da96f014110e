import { execFileSync } from 'node:child_process';

/** What the package costs before it does anything. */
export interface Footprint {
  /** In ms, medians: a process that imports the peers alone, and one that imports the package, too. */
  readonly wall: Imported;
  readonly processor: Imported;
  /** Of the tarball. */
  readonly files: number;
  readonly packed: number;
  readonly unpacked: number;
}

interface Imported {
  readonly alone: number;
  readonly both: number;
  /** Within each pair. */
  readonly ratio: number;
}

export const FOOTPRINT = { name: 'the package: import and tarball' };

/** @param pairs How often each of the two processes is started, in turns. */
export function footprint(pairs: number): Footprint {
  const imported = parsed(process.execPath, ['tools/import-time.mjs', String(pairs), '--json']);
  const [tarball] = parsed('npm', ['pack', '--dry-run', '--json', '--ignore-scripts']) as [
    { entryCount: number; size: number; unpackedSize: number },
  ];
  return {
    ...(imported as Pick<Footprint, 'wall' | 'processor'>),
    files: tarball.entryCount,
    packed: tarball.size,
    unpacked: tarball.unpackedSize,
  };
}

function parsed(command: string, args: readonly string[]): unknown {
  const said = execFileSync(command, args, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return JSON.parse(said);
}
