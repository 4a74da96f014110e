import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A certificate of its own authority for a host name, in files of its own. */
export class Certificate {
  readonly #folder = mkdtempSync(join(tmpdir(), 'nest-redis-lock-tls-'));

  constructor(host: string) {
    const { key, file } = this;
    const names = `-subj /CN=${host} -addext subjectAltName=DNS:${host}`;
    const args = `req -x509 -newkey rsa:2048 -nodes -days 1 ${names} -keyout ${key} -out ${file}`;
    execFileSync('openssl', args.split(' '), { stdio: 'ignore' });
  }

  get key(): string {
    return join(this.#folder, 'key.pem');
  }

  get file(): string {
    return join(this.#folder, 'certificate.pem');
  }

  /** As a client that trusts it wants it. */
  get authority(): string {
    return readFileSync(this.file, 'utf8');
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
