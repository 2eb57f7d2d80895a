import { DataSourceOptions } from 'typeorm';

export { AuthModule } from './auth.module';
export { JwtAuthGuard } from './jwt-auth.guard';
export { Roles, RolesGuard } from './roles.guard';

export const withTables = (options: DataSourceOptions) => options;
