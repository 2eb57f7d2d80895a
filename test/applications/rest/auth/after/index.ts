import { withAuthTables } from 'nestjs-session-auth';
import { DataSourceOptions } from 'typeorm';

export { BearerAuthGuard as JwtAuthGuard } from 'nestjs-session-auth';
export { AuthModule } from './auth.module';
export { Roles, RolesGuard } from './roles.guard';

export const withTables = (options: DataSourceOptions) => withAuthTables(options, { usersTable: false });
