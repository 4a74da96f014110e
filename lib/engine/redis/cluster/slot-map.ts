/** How many slots a Redis Cluster has. */
const SLOTS = 16_384;

const TABLE = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8;
  for (let bit = 0; bit < 8; bit += 1) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1;
  return crc;
});

/** The smallest whole number in each slot, among the numbers below `tried`. */
const tags: string[] = [];
let tried = 0;

/** The smallest whole number whose decimals, in braces, put a key into the slot of `key`: below 109,758 for every slot. */
export function slotTagOf(key: string): string {
  const slot = slotOf(key);
  while (tags[slot] === undefined) {
    const tag = String(tried);
    tags[slotOf(tag)] ??= tag;
    tried += 1;
  }
  return tags[slot];
}

/** The slot of a key: CRC16 (XMODEM) of the text in its first braces, or of the whole key if there is none. */
export function slotOf(key: string): number {
  const open = key.indexOf('{');
  const close = open < 0 ? -1 : key.indexOf('}', open + 1);
  const tag = close > open + 1 ? key.slice(open + 1, close) : key;
  return crcOf(tag) % SLOTS;
}

function crcOf(text: string): number {
  const bytes = Buffer.from(text);
  let crc = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    crc = ((crc << 8) ^ TABLE[(crc >> 8) ^ bytes[at]!]!) & 0xffff;
  }
  return crc;
}

/** The address of a node, as `host:port`. */
export type Address = string;

/** One line of CLUSTER SLOTS: the primary comes first. */
type SlotRange = [first: number, last: number, ...nodes: SlotNode[]];
type SlotNode = [host: string | null, port: number, id?: string, networks?: readonly string[]];

/** The node that owns each slot. */
export class SlotMap {
  readonly #owners = Array.from<Address | undefined>({ length: SLOTS });

  /** Reads the answer to CLUSTER SLOTS of the node at `asked`; a node that does not know its host has that of `asked`. */
  static read(reply: unknown, asked: Address, mapped: (address: Address) => Address): SlotMap {
    const map = new SlotMap();
    for (const [first, last, primary] of reply as SlotRange[]) {
      if (!primary) continue;
      const [, port] = primary;
      const host = hostOfNode(primary);
      const address = host ? mapped(`${host}:${port}`) : `${hostOf(asked)}:${port}`;
      map.#owners.fill(address, first, last + 1);
    }
    return map;
  }

  owner(slot: number): Address | undefined {
    return this.#owners[slot];
  }

  move(slot: number, address: Address): void {
    this.#owners[slot] = address;
  }

  get addresses(): Address[] {
    return [...new Set(this.#owners)].filter((address) => address !== undefined);
  }

  /** The smallest whole number whose decimals, in braces, put a key into a slot of this node. The node must own one. */
  tagAt(address: Address): string {
    let tag = 0;
    while (this.owner(slotOf(String(tag))) !== address) tag += 1;
    return String(tag);
  }

  /** How many slots no node owns. */
  get unserved(): number {
    return SLOTS - this.#owners.filter((address) => address !== undefined).length;
  }

  equals(other: SlotMap): boolean {
    return this.#owners.every((owner, slot) => owner === other.owner(slot));
  }
}

/** The host of a node, if the node knows it. If hostnames are preferred and the node has none (`?`): its IP address. */
function hostOfNode([host, , , networks = []]: SlotNode): string | null | undefined {
  if (host !== '?') return host;
  const at = networks.indexOf('ip');
  return at < 0 ? undefined : networks[at + 1];
}

/** Host and port of an address; a host may be an IPv6 address. */
export function hostAndPort(address: Address): { host: string; port: number } {
  return { host: hostOf(address), port: Number(address.slice(address.lastIndexOf(':') + 1)) };
}

function hostOf(address: Address): string {
  return address.slice(0, address.lastIndexOf(':'));
}
