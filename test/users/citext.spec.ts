import { AUTH_ENTITIES_WITHOUT_USERS, AuthService } from 'nestjs-session-auth';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { createDatabase, describeOn, type TestDatabase } from '../support/databases';
import { PASSWORD, TestApplication } from '../support/test-application';

/** Names that PostgreSQL compares without regard to case. */
@Entity('people')
class Person {
  @PrimaryGeneratedColumn('uuid')
  id!: string;

  @Column({ type: 'citext', unique: true })
  email!: string;

  @Column({ type: 'varchar' })
  password!: string;
}

describeOn('postgres')('usernames in a column of type citext', (name) => {
  const users = { entity: Person, username: 'email', passwordHash: 'password' };
  const entities = [Person, ...AUTH_ENTITIES_WITHOUT_USERS];
  let database: TestDatabase;

  beforeAll(async () => {
    database = await createDatabase(name);
  });
  afterAll(() => database.drop());

  it('with nameMatching `exact`, a login compares names exactly although the column ignores case', async () => {
    const app = await TestApplication.start({ database, entities, users: ['alice'], auth: { users } });
    await app.login('alice');
    await expect(app.login('ALICE')).rejects.toThrow('login: 400');
    await app.close();
  });

  it('with nameMatching `insensitive`, a column of type citext can contain the folded names', async () => {
    const auth = { users: { ...users, foldedUsername: 'email' }, nameMatching: 'insensitive' as const };
    const app = await TestApplication.start({ database, entities, users: ['bob'], auth });
    await app.login('BOB');
    const twice = app.nest.get(AuthService).createUser({ username: 'Bob', password: PASSWORD });
    await expect(twice).rejects.toMatchObject({ code: 'username_taken' });
    await app.close();
  });
});
