import { type DynamicModule, Module } from '@nestjs/common';
import { AccountsModule } from '../accounts/accounts.module.js';
import { AppModule } from '../app.module.js';
import { UnlockedAccountsController } from './unlocked-accounts.controller.js';
import { UnlockedAccountsService } from './unlocked-accounts.service.js';

/** The bank, and beside it the same bank without locks. */
@Module({})
export class DemoModule {
  static connectedTo(redis: string): DynamicModule {
    return {
      module: DemoModule,
      imports: [AppModule.connectedTo(redis), AccountsModule],
      controllers: [UnlockedAccountsController],
      providers: [UnlockedAccountsService],
    };
  }
}
