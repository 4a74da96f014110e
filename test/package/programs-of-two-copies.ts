/** What each says of an error of its own, of the other's, and of what is none. */
export const PROGRAM = `
  const failure = (of) => new of.LockNotAcquiredError('k', 5);
  const foreign = [new Error('no'), null, undefined, 'no', {}, Object.create(null)];
  const classes = ['LockError', 'LockNotAcquiredError', 'LockStoreError'];
  const says = (of, error) => ({
    isLockError: of.isLockError(error),
    instanceOf: classes.filter((name) => error instanceof of[name]),
  });
  const of = (mine, other) => ({
    own: says(mine, failure(mine)),
    other: { ...says(mine, failure(other)), code: failure(other).code, key: failure(other).key },
    foreign: foreign.filter((value) => says(mine, value).isLockError || says(mine, value).instanceOf.length),
  });
  console.log(JSON.stringify({ same: a.LockError === b.LockError, a: of(a, b), b: of(b, a) }));`;

/** What an application says at its start, and a handler at its call. */
export const OF_TWO = `
  import 'reflect-metadata';
  import { Controller, Get } from '@nestjs/common';
  import { Test } from '@nestjs/testing';
  import { Locked, LockedRequest } from 'nest-redis-lock';
  import { LockTestingModule } from 'second-copy/testing';
  const methodOf = ({ prototype }, ...all) => {
    for (const one of all) one(prototype, 'work', Object.getOwnPropertyDescriptor(prototype, 'work'));
  };
  class Service { async work() {} }
  methodOf(Service, Locked('a'));
  class Handlers { async work() {} }
  methodOf(Handlers, Get(), LockedRequest('a'));
  Controller()(Handlers);
  const errors = [];
  const built = (more) =>
    Test.createTestingModule({ imports: [LockTestingModule.forRoot()], ...more }).compile();
  await built({ providers: [Service] }).catch((error) => errors.push(error.message));
  const app = (await built({ controllers: [Handlers] })).createNestApplication();
  app.useLogger({ log() {}, warn() {}, error: ({ message }) => errors.push(message) });
  await app.listen(0);
  await fetch(await app.getUrl());
  await app.close();
  console.log(JSON.stringify(errors));`;
