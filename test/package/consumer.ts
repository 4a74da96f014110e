import { execFile } from 'node:child_process';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { outsideNpm } from './outside-npm.js';

const exec = promisify(execFile);

/** What a command of a consumer said and how it ended. */
export interface Outcome {
  readonly code: number | string;
  readonly stdout: string;
  readonly stderr: string;
}

/** A throw-away project that installed the packed library. */
export class Consumer {
  private constructor(private readonly folder: string) {}

  /** Copies `test/package/consumers/<name>` below `folder` and installs the tarball and all else into it. */
  static async install(name: string, tarball: string, folder: string): Promise<Consumer> {
    const project = join(folder, name);
    cpSync(join('test/package/consumers', name), project, { recursive: true });
    const consumer = new Consumer(project);
    const flags = ['--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error'];
    const { code, stderr } = await consumer.run('npm', ['install', ...flags, tarball]);
    if (code !== 0) throw new Error(`npm install failed in ${name}: ${stderr}`);
    return consumer;
  }

  /** Runs a command in the project; one that has not ended by itself after two minutes is ended. */
  async run(command: string, args: string[], env: NodeJS.ProcessEnv = {}): Promise<Outcome> {
    try {
      const said = await exec(command, args, {
        cwd: this.folder,
        env: outsideNpm(env),
        timeout: 120_000,
      });
      return { code: 0, ...said };
    } catch (error) {
      const { code, signal, stdout, stderr } = error as Outcome & { signal: string | null };
      return { code: signal ?? code, stdout, stderr };
    }
  }

  /** Runs Node on a file of the project. */
  node(args: string[], env?: NodeJS.ProcessEnv): Promise<Outcome> {
    return this.run(process.execPath, args, env);
  }
}
