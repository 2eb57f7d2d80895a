import { ApolloDriver, ApolloDriverConfig } from '@nestjs/apollo';
import { Global, Module } from '@nestjs/common';
import { GraphQLModule } from '@nestjs/graphql';
import { AuthModule } from './auth';
import { BlogResolver } from './blog.resolver';
import { DrizzleModule } from './drizzle';
import { UsersService } from './users.service';

@Global()
@Module({ providers: [UsersService, BlogResolver], exports: [UsersService] })
export class BlogModule {}

@Module({
  imports: [
    GraphQLModule.forRoot<ApolloDriverConfig>({ driver: ApolloDriver, autoSchemaFile: true }),
    DrizzleModule,
    BlogModule,
    AuthModule,
  ],
})
export class AppModule {}
