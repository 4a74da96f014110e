import { Redis } from 'ioredis';
import { ClusterProcess } from '../../tools/redis-cluster.js';
import { freePort } from '../../tools/redis-server.js';
import { Certificate } from '../support/certificate.js';

export const PASSWORD = 'p:w@/%';

/** A Cluster that has TLS, host names and users, of whom `locks` may use it. */
export class SecureCluster {
  private constructor(
    private readonly nodes: ClusterProcess,
    private readonly certificate: Certificate,
    readonly ports: readonly number[],
  ) {}

  static async start(): Promise<SecureCluster> {
    const certificate = new Certificate('localhost'); // not for 127.0.0.1: who connects there is refused
    const ports: number[] = [];
    const { file, key } = certificate;
    const secure = `--tls-cert-file ${file} --tls-key-file ${key} --tls-ca-cert-file ${file} --tls-auth-clients no --tls-cluster yes`;
    const named =
      '--cluster-announce-hostname localhost --cluster-preferred-endpoint-type hostname';
    const nodes = await ClusterProcess.start({
      args: async (at) => {
        ports[at] = await freePort();
        return `--tls-port ${ports[at]} ${secure} ${named}`.split(' ');
      },
    });
    for (const { url } of nodes.servers) {
      const admin = new Redis(url);
      await admin.call('ACL', 'SETUSER', 'locks', 'on', `>${PASSWORD}`, '~*', '&*', '+@all');
      await admin.call('ACL', 'SETUSER', 'default', '-@scripting');
      admin.disconnect();
    }
    return new SecureCluster(nodes, certificate, ports);
  }

  get seeds(): { host: string; port: number }[] {
    return this.ports.map((port) => ({ host: 'localhost', port }));
  }

  /** What its user needs. */
  get access(): { username: string; password: string; tls: { ca: string } } {
    return { username: 'locks', password: PASSWORD, tls: { ca: this.certificate.authority } };
  }

  moveSlot(slot: number): Promise<void> {
    return this.nodes.moveSlot(slot);
  }

  async stop(): Promise<void> {
    await this.nodes.stop();
    this.certificate.remove();
  }
}
