import { AUTH_ENTITIES_WITHOUT_USERS } from 'nestjs-session-auth';
import { hashSync } from 'bcrypt';
import { AfterLoad, Column, Entity, ManyToOne } from 'typeorm';
import { DATABASES } from '../support/databases';
import { entityOf, GENERATED_ID, TEXT } from '../support/mapped-users';
import { startForTest } from '../support/start-for-test';
import { PASSWORD } from '../support/test-application';

const Crew = entityOf('Crew', { id: GENERATED_ID, title: TEXT });

const Contact = entityOf('Contact', {
  phone: { type: 'varchar', length: 50 },
  private: { type: 'varchar', length: 50, select: false, default: 'unlisted' },
});

@Entity('sailors')
class Sailor extends entityOf('SailorColumns', {
  id: GENERATED_ID,
  email: TEXT,
  password: TEXT,
  pin: { type: 'varchar', length: 50, select: false, default: '0000' },
}) {
  @Column(() => Contact)
  contact!: InstanceType<typeof Contact>;

  @ManyToOne(() => Crew, { eager: true })
  crew!: InstanceType<typeof Crew>;

  @ManyToOne(() => Crew)
  formerCrew!: InstanceType<typeof Crew>;

  /** An idiom of entities that hash a password only if it has changed. */
  previous?: string;

  @AfterLoad()
  keepPrevious(): void {
    this.previous = this.password;
  }
}

it.each(DATABASES)('an entity is loaded as by findOne(), but without the password hash, on %s', async (name) => {
  const users = { entity: Sailor, username: 'email', passwordHash: 'password' };
  const entities = [Sailor, Crew, ...AUTH_ENTITIES_WITHOUT_USERS];
  const app = await startForTest(name, { auth: { users }, entities, users: [] });
  const sailors = app.dataSource.getRepository(Sailor);
  const crew = await app.dataSource.getRepository(Crew).save({ title: 'watch' });
  const hash = hashSync(PASSWORD, 4);
  await sailors.save({ email: 'alice', password: hash, contact: { phone: '555' }, crew, formerCrew: crew });
  const principal = (await app.auth.authenticate((await app.login()).access_token))!;
  const loaded = (await app.auth.loadUser(principal)) as Sailor;
  const found = (await sailors.findOneBy({ email: 'alice' }))!;
  expect(found).toMatchObject({ previous: hash, contact: { phone: '555' }, crew: { title: 'watch' } });
  expect(loaded).toBeInstanceOf(Sailor);
  expect(JSON.parse(JSON.stringify(loaded))).toEqual(
    JSON.parse(JSON.stringify({ ...found, password: undefined, previous: undefined })),
  );
  loaded.contact.phone = '556';
  await sailors.save(loaded);
  expect(await sailors.countBy({ password: hash, pin: '0000', contact: { phone: '556' } })).toBe(1);
});
