export { AuthModule } from './auth.module';
export { CurrentUser, GqlAuthGuard } from './gql-auth.guard';

export const migrations: readonly string[] = [];
