import { UseGuards } from '@nestjs/common';
import { BearerAuthGuard, withAuthTables } from 'nestjs-session-auth';
import { DataSourceOptions } from 'typeorm';

export { CurrentUser, OptionalAuth as LoginOptional } from 'nestjs-session-auth';
export { AuthModule } from './auth.module';

export const LoginRequired = () => UseGuards(BearerAuthGuard);
export const withTables = (options: DataSourceOptions) => withAuthTables(options, { usersTable: false });
