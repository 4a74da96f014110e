/** What a till asks of the microservice. */
export interface Charge {
  readonly card: string;
  readonly amount: number;
}
