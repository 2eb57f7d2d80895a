import { Injectable } from '@nestjs/common';
import { hash } from 'bcrypt';
import { eq } from 'drizzle-orm';
import { BCRYPT_COST } from './config';
import { Drizzle, users } from './drizzle';

@Injectable()
export class UsersService {
  constructor(private readonly drizzle: Drizzle) {}

  async create(email: string, password: string, firstName: string) {
    const row = { email, password: await hash(password, BCRYPT_COST), firstName };
    const [user] = await this.drizzle.db.insert(users).values(row).returning();
    return user!;
  }

  async findByEmail(email: string) {
    const [user] = await this.drizzle.db.select().from(users).where(eq(users.email, email));
    return user;
  }

  async findById(id: string) {
    const [user] = await this.drizzle.db.select().from(users).where(eq(users.id, id));
    return user;
  }
}
