import { LockStoreError } from '../errors/index.js';

const ANSWER = /^(?:(MOVED|ASK) \d+ (\S+)|(TRYAGAIN)\b)/;

/** A node of a Cluster answered that it did nothing, because the lock's slot lives elsewhere, or is on its way there. */
export class Redirection extends LockStoreError {
  private constructor(
    message: string,
    key: string | undefined,
    /** `moved`: for good; `ask`: this once; `tryagain`: nowhere at the moment. */
    readonly kind: 'moved' | 'ask' | 'tryagain',
    /** `host:port`; without a host it is that of the node that answered, with `?` it has none. */
    readonly address: string,
  ) {
    super(message, { key, outcome: 'refused', retryable: true });
  }

  /** What an answer says, if it is one of these. */
  static of(answer: string, key: string | undefined, subject: string): Redirection | undefined {
    const [, code, address = '', again] = ANSWER.exec(answer) ?? [];
    if (again)
      return new Redirection(`${subject}: the slot is moving (TRYAGAIN).`, key, 'tryagain', '');
    if (!code) return undefined;
    const says = `the slot is on another node of the Cluster (${code})`;
    return new Redirection(`${subject}: ${says}.`, key, code === 'ASK' ? 'ask' : 'moved', address);
  }
}
