import { DataSourceOptions } from 'typeorm';

export { AuthModule } from './auth.module';
export { CurrentUser, LoginOptional, LoginRequired } from './token.guard';

export const withTables = (options: DataSourceOptions) => options;
