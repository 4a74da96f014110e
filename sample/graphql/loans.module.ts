import { ApolloDriver, type ApolloDriverConfig } from '@nestjs/apollo';
import { type DynamicModule, Module } from '@nestjs/common';
import { GraphQLModule } from '@nestjs/graphql';
import { RedisLockModule } from 'nest-redis-lock';
import { RedisModule } from '../redis/redis.module.js';
import { LoansResolver } from './loans.resolver.js';
import { Scoring } from './scoring.js';

@Module({ providers: [LoansResolver, Scoring] })
export class LoansModule {
  static connectedTo(redis: string): DynamicModule {
    return {
      module: LoansModule,
      imports: [
        RedisLockModule.forRoot({ redis, keyPrefix: 'bank-demo:lock:' }),
        RedisModule.connectedTo(redis),
        GraphQLModule.forRoot<ApolloDriverConfig>({ driver: ApolloDriver, autoSchemaFile: true }),
      ],
    };
  }
}
