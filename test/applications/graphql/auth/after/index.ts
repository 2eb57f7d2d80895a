export { BearerAuthGuard as GqlAuthGuard, CurrentUser } from 'nestjs-session-auth';
export { AuthModule } from './auth.module';

export const migrations: readonly string[] = ['CREATE SCHEMA IF NOT EXISTS auth'];
