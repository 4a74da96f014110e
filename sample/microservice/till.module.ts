import { type DynamicModule, Module } from '@nestjs/common';
import { ClientsModule, Transport } from '@nestjs/microservices';
import { Till } from './till.js';

/** A client of the microservice: it has no lock and no Redis. */
@Module({ providers: [Till] })
export class TillModule {
  static connectedTo(port: number): DynamicModule {
    const options = { host: '127.0.0.1', port };
    return {
      module: TillModule,
      imports: [ClientsModule.register([{ name: 'CARDS', transport: Transport.TCP, options }])],
    };
  }
}
