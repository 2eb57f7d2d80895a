import { UseGuards } from '@nestjs/common';
import { Args, Mutation, Parent, Query, ResolveField, Resolver } from '@nestjs/graphql';
import { eq } from 'drizzle-orm';
import { CurrentUser, GqlAuthGuard } from './auth';
import { Drizzle, posts } from './drizzle';
import { Post, User } from './models';
import { UsersService } from './users.service';

@Resolver(() => Post)
export class BlogResolver {
  constructor(
    private readonly drizzle: Drizzle,
    private readonly users: UsersService,
  ) {}

  @Query(() => [Post])
  posts() {
    return this.drizzle.db.select().from(posts);
  }

  @Query(() => User)
  @UseGuards(GqlAuthGuard)
  me(@CurrentUser() { id }: { id: string }) {
    return this.users.findById(id);
  }

  @Query(() => [Post])
  @UseGuards(GqlAuthGuard)
  myPosts(@CurrentUser() { id }: { id: string }) {
    return this.drizzle.db.select().from(posts).where(eq(posts.authorId, id));
  }

  @Mutation(() => Post)
  @UseGuards(GqlAuthGuard)
  async createPost(@Args('title') title: string, @CurrentUser() { id }: { id: string }) {
    const [post] = await this.drizzle.db.insert(posts).values({ title, authorId: id }).returning();
    return post!;
  }

  @ResolveField(() => User)
  author(@Parent() { authorId }: Post) {
    return this.users.findById(authorId);
  }
}
