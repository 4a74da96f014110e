import { setTimeout } from 'node:timers/promises';

/** What a client sees of an error. */
interface GraphQLError {
  readonly message: string;
  readonly extensions: { readonly code: string; readonly retryAfter?: number };
}

interface Answer {
  readonly data?: { readonly approve: { readonly approvedBy: string } } | null;
  readonly errors?: readonly GraphQLError[];
}

const APPROVE = `
  mutation ($loan: ID!, $clerk: String!) {
    approve(id: $loan, clerk: $clerk) { approvedBy }
  }`;

/** A client of the API. It knows a busy lock by its code, and asks again after the seconds that it is told. */
export class Clerk {
  /** Each refusal that it was given. */
  readonly refusals: GraphQLError[] = [];

  constructor(
    private readonly name: string,
    private readonly url: string,
  ) {}

  /** Who has approved the loan in the end. */
  async approve(loan: string): Promise<string> {
    for (;;) {
      const { data, errors } = await this.#ask({ loan, clerk: this.name });
      if (data) return data.approve.approvedBy;
      const [error] = errors!;
      if (error!.extensions.code !== 'LOCK_NOT_ACQUIRED') throw new Error(error!.message);
      this.refusals.push(error!);
      await setTimeout(error!.extensions.retryAfter! * 1_000);
    }
  }

  async #ask(variables: Record<string, string>): Promise<Answer> {
    const answer = await fetch(`${this.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: APPROVE, variables }),
    });
    return (await answer.json()) as Answer;
  }
}
