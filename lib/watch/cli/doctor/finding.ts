/** `problem`: locks are lost, refused or kept for ever; `warning`: that may happen, or a setting is odd. */
export type Status = 'ok' | 'warning' | 'problem';

/** The finding of one check. */
export interface Finding {
  readonly check: string;
  readonly status: Status;
  readonly found: string;
  /** The change that mends what was found; undefined if none is known. */
  readonly remedy?: string;
}

export function ok(check: string, found: string): Finding {
  return { check, status: 'ok', found };
}

export function warning(check: string, found: string, remedy: string): Finding {
  return { check, status: 'warning', found, remedy };
}

export function problem(check: string, found: string, remedy?: string): Finding {
  return { check, status: 'problem', found, ...(remedy !== undefined && { remedy }) };
}

/** A finding, with the servers that have it. */
export interface Diagnosis extends Finding {
  readonly servers: readonly string[];
}

/** Merges equal findings of several servers, in the order of their first appearance. */
export function diagnosesOf(
  found: readonly { readonly server: string; readonly findings: readonly Finding[] }[],
): Diagnosis[] {
  const diagnoses = new Map<string, Finding & { servers: string[] }>();
  for (const { server, findings } of found) {
    for (const finding of findings) {
      const text = JSON.stringify(finding);
      const known = diagnoses.get(text);
      if (known) known.servers.push(server);
      else diagnoses.set(text, { ...finding, servers: [server] });
    }
  }
  return [...diagnoses.values()];
}
