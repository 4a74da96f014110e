import { readFileSync, rmSync, writeFileSync } from 'node:fs';

/** Makes a file that one process has until it removes it; false while another has it, which is still there. */
export function takeFile(path: string): boolean {
  try {
    writeFileSync(path, String(process.pid), { flag: 'wx' });
    return true;
  } catch {
    const owner = Number(textOf(path));
    if (owner > 0 && !lives(owner)) rmSync(path, { force: true });
    return false;
  }
}

function lives(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

export function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
