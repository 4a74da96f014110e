import { readdirSync } from 'node:fs';

/** Declares every contract for one topology alone, in one file: Jest loads the library once for all of them. */
export async function contractsOn(topology: string): Promise<void> {
  process.env['TOPOLOGIES'] = topology;
  for (const file of readdirSync('test/contracts').filter((name) =>
    name.endsWith('.contract.ts'),
  )) {
    await import(`../../../test/contracts/${file.replace('.contract.ts', '.spec.js')}`);
  }
}
