import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
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

/** How long an installation may take, in ms: minutes, where others have the processors or the network. */
export const INSTALLING = 600_000;

/** When a command that does not end by itself is ended, in ms: a busy machine needs minutes for what else takes seconds. */
const HANGING = 240_000;

const QUIET = ['--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error'];

/** The command by which a package manager adds a tarball to a project and installs all that the project names. */
export interface Installer {
  readonly name: string;
  readonly words: readonly [program: string, ...words: string[]];
}

const NPM: Installer = { name: 'npm', words: ['npm', 'install', ...QUIET] };

export const PNPM: Installer = {
  name: 'pnpm',
  words: ['npm', 'exec', '--yes', '--', 'pnpm@10', 'add', '--prefer-offline', '--ignore-scripts'],
};

/** A throw-away project that installed the packed library. */
export class Consumer {
  private constructor(readonly folder: string) {}

  /** Copies `test/package/consumers/<name>` below `folder` and installs the tarball and all else into it. */
  static async install(
    name: string,
    tarball: string,
    folder: string,
    installer = NPM,
  ): Promise<Consumer> {
    const project = join(folder, installer.name, name);
    cpSync(join('test/package/consumers', name), project, { recursive: true });
    const consumer = new Consumer(project);
    const [program, ...words] = installer.words;
    const { code, stdout, stderr } = await consumer.run(
      program,
      [...words, tarball],
      {},
      INSTALLING,
    );
    if (code !== 0) throw new Error(`${installer.name} failed in ${name}: ${stdout}${stderr}`);
    return consumer;
  }

  /** An empty folder that installed the tarball and these packages, and nothing that either may go with. */
  static async bare(
    tarball: string,
    folder: string,
    packages: readonly string[],
  ): Promise<Consumer> {
    const project = join(folder, 'bare');
    mkdirSync(project);
    writeFileSync(join(project, 'package.json'), '{ "private": true }');
    const consumer = new Consumer(project);
    const install = ['install', ...QUIET, '--omit=peer', tarball, ...packages];
    const { code, stdout, stderr } = await consumer.run('npm', install, {}, INSTALLING);
    if (code !== 0) throw new Error(`npm failed: ${stdout}${stderr}`);
    return consumer;
  }

  /** An empty folder that installed the last commit of this repository by its git URL: npm builds it in a clone. */
  static async ofGit(folder: string): Promise<Consumer> {
    const project = join(folder, 'git');
    mkdirSync(project);
    writeFileSync(join(project, 'package.json'), '{ "private": true }');
    const bare = join(folder, 'repository.git');
    await exec('git', ['clone', '--quiet', '--bare', '.', bare]);
    const consumer = new Consumer(project);
    const install = ['install', ...QUIET, `git+file://${bare}`];
    const { code, stdout, stderr } = await consumer.run('npm', install, {}, INSTALLING);
    if (code !== 0) throw new Error(`npm failed: ${stdout}${stderr}`);
    return consumer;
  }

  /** Runs a command in the project; one that does not end by itself is ended. */
  async run(
    command: string,
    args: string[],
    env: NodeJS.ProcessEnv = {},
    timeout = HANGING,
  ): Promise<Outcome> {
    try {
      const said = await exec(command, args, {
        cwd: this.folder,
        env: outsideNpm(env),
        timeout,
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
