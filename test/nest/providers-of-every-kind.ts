// Providers under @Locked: plain, inheriting, overriding, abstract, for each request and transient.
import { Inject, Injectable, Scope } from '@nestjs/common';
import { ModuleRef, REQUEST } from '@nestjs/core';
import { CurrentLease, Lease, Locked } from '../../lib/index.js';

@Injectable()
export class Base {
  /** How many were made, and have run. */
  static runs = 0;

  readonly made = (Base.runs += 1);

  @Locked('base:<id>')
  async work(id: string, @CurrentLease() lease?: Lease): Promise<string> {
    Base.runs += 1;
    return `base ${id} ${lease!.key} ${lease!.held}`;
  }
}

@Injectable()
export class Inheriting extends Base {
  @Inject(ModuleRef) readonly modules!: ModuleRef;
}

@Injectable()
export class Overriding extends Base {
  @Locked('over:<id>')
  override async work(id: string, @CurrentLease() lease?: Lease): Promise<string> {
    return `${lease!.key} over ${await super.work(id)}`;
  }
}

@Injectable()
export class SameKey extends Base {
  @Locked('base:<id>')
  override async work(id: string): Promise<string> {
    return `same ${await super.work(id)}`;
  }
}

abstract class Job {
  abstract readonly name: string;

  @Locked('job:<id>')
  async run(id: string, @CurrentLease() lease?: Lease): Promise<string> {
    return `${this.name} ${lease!.key} ${await this.step(id)}`;
  }

  protected abstract step(id: string): Promise<string>;
}

@Injectable()
export class Import extends Job {
  #rows = 3;
  readonly name = 'import';

  protected async step(id: string): Promise<string> {
    return `${id}${this.#rows}`;
  }
}

@Injectable({ scope: Scope.REQUEST })
export class PerRequest {
  constructor(@Inject(REQUEST) readonly request: { url?: string } | undefined) {}

  @Locked('request:<id>')
  async work(id: string, @CurrentLease() lease?: Lease): Promise<string> {
    return `${this.request?.url} ${lease!.key} ${id}`;
  }
}

@Injectable({ scope: Scope.TRANSIENT })
export class Transient extends Base {}
