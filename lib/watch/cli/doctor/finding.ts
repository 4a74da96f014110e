/** `problem`: locks are lost, refused or kept for ever; `warning`: they may be, or something is odd. */
export type Status = 'ok' | 'warning' | 'problem';

/** What a check found. */
export interface Finding {
  readonly check: string;
  readonly status: Status;
  readonly found: string;
  /** What to change. */
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

/** What was found, and at which servers. */
export interface Diagnosis extends Finding {
  readonly servers: readonly string[];
}

/** Each finding once, with all servers that have it; in the order in which they were first met. */
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
