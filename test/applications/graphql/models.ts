import { Field, ID, Int, ObjectType } from '@nestjs/graphql';

@ObjectType()
export class User {
  @Field(() => ID)
  id!: string;

  @Field()
  email!: string;

  @Field()
  firstName!: string;
}

@ObjectType()
export class Post {
  @Field(() => Int)
  id!: number;

  @Field()
  title!: string;

  authorId!: string;
}

@ObjectType()
export class Tokens {
  @Field()
  accessToken!: string;

  @Field()
  refreshToken!: string;
}
