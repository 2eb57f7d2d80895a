import { AUTH_ENTITIES_WITHOUT_USERS, type AuthModuleOptions } from 'nestjs-session-auth';
import { Column, Entity, Index, PrimaryColumn, PrimaryGeneratedColumn, Unique } from 'typeorm';
import { createDatabase, DATABASES, type TestDatabase } from '../support/databases';
import { TestApplication } from '../support/test-application';

@Entity('signups')
@Unique(['first', 'second'])
class Signup {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ type: 'varchar' })
  email!: string;

  @Column({ type: 'varchar' })
  password!: string;

  @Column({ type: 'varchar', unique: true })
  good!: string;

  @Index({ unique: true })
  @Column({ type: 'varchar' })
  alsoGood!: string;

  @Column({ type: 'varchar' })
  first!: string;

  @Column({ type: 'varchar' })
  second!: string;

  @Index()
  @Column({ type: 'varchar' })
  indexed!: string;

  @Column({ type: 'int', unique: true })
  count!: number;

  @Column({ type: 'varchar', unique: true, transformer: { to: String, from: String } })
  transformed!: string;

  @Column({ type: 'varchar', unique: true, insert: false, default: '' })
  readOnly!: string;
}

@Entity('drafts')
class Draft {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ type: 'varchar' })
  email!: string;

  @Column({ type: 'varchar' })
  password!: string;

  @Index({ unique: true, where: 'email IS NOT NULL' })
  @Column({ type: 'varchar' })
  sometimes!: string;

  @Column({ type: 'varchar', unique: true, asExpression: 'LOWER(email)', generatedType: 'STORED' })
  generated!: string;
}

/** SQLite has no fixed-length types. */
@Entity('codes')
class Code {
  @PrimaryColumn({ type: 'char', length: 40 })
  email!: string;

  @Column({ type: 'varchar' })
  password!: string;
}

describe.each(DATABASES)('the column of folded names on %s', (name) => {
  let database: TestDatabase;

  beforeAll(async () => {
    database = await createDatabase(name);
  });
  afterAll(() => database.drop());

  function startError(mapping: object): Promise<string | null> {
    const users = { entity: Signup, username: 'email', passwordHash: 'password', ...mapping };
    const fixedLength = name === 'sqlite' ? [] : [Code];
    const entities = [Signup, Draft, ...fixedLength, ...AUTH_ENTITIES_WITHOUT_USERS];
    const auth: AuthModuleOptions = { users, nameMatching: 'insensitive' };
    return TestApplication.startError({ database, entities, users: [], auth });
  }

  it.each([
    ['a unique constraint', 'good'],
    ['a unique index', 'alsoGood'],
  ])('a column of folded names with %s is accepted', async (_, foldedUsername) => {
    expect(await startError({ foldedUsername })).toBeNull();
  });

  const refused: [string, object, RegExp][] = [
    ['does not exist', { foldedUsername: 'folded' }, /'folded', which is not a column of Signup; use one of/],
    ['is not unique', { foldedUsername: 'indexed' }, /'indexed', a column of type .*varchar.*unique: true/],
    [
      'is unique only together with another column',
      { foldedUsername: 'first' },
      /'first', a column of type .*on it alone/,
    ],
    ['is unique under a condition', { entity: Draft, foldedUsername: 'sometimes' }, /'sometimes', a column of type/],
    ['does not contain text', { foldedUsername: 'count' }, /'count', a column of type int/],
    ['has a value transformer', { foldedUsername: 'transformed' }, /'transformed', which has a value transformer/],
    ['is never inserted', { foldedUsername: 'readOnly' }, /'readOnly', a column .*that the library fills/],
    ['is filled by the database', { entity: Draft, foldedUsername: 'generated' }, /'generated', a .*the library fills/],
  ];
  if (name !== 'sqlite') {
    refused.push(['has a fixed length', { entity: Code, foldedUsername: 'email' }, /'email', a column of type char/]);
  }

  it.each(refused)('the startup fails if the column of folded names %s', async (_, mapping, problem) => {
    expect(await startError(mapping)).toMatch(new RegExp(`users\\.foldedUsername is ${problem.source}`));
  });
});
