/** @jest-environment node */
import { Controller, Get, UseGuards } from '@nestjs/common';
import { AUTH_ENTITIES_WITHOUT_USERS, BearerAuthGuard, CurrentUser, withAuthTables } from 'nestjs-session-auth';
import {
  Column,
  DeleteDateColumn,
  Entity,
  JoinColumn,
  ManyToOne,
  PrimaryGeneratedColumn,
  Table,
  type DataSourceOptions,
  type QueryRunner,
} from 'typeorm';
import { DATABASES } from '../support/databases';
import { databaseForTest, startForTest } from '../support/start-for-test';
import { PASSWORD, type TestApplication } from '../support/test-application';

// The file has the types of the workspace's TypeORM.
jest.mock('typeorm', () => jest.requireActual<object>('typeorm-0.3.20'));

@Entity('roles')
class Role {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ type: 'varchar' }) name!: string;
}

@Entity('users')
class User {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ type: 'varchar', unique: true }) email!: string;
  @Column({ type: 'varchar', select: false }) password!: string;
  @Column({ type: Number, name: 'role_id' }) roleId!: number;
  @ManyToOne(() => Role, { eager: true })
  @JoinColumn({ name: 'role_id' })
  role!: Role;
  @DeleteDateColumn({ name: 'deleted_at' }) deletedAt!: Date | null;
}

class CreateUsers1700000000000 {
  async up(runner: QueryRunner): Promise<void> {
    const date = runner.connection.driver.normalizeType({ type: Date });
    const id = {
      name: 'id',
      type: 'integer',
      isPrimary: true,
      isGenerated: true,
      generationStrategy: 'increment',
    } as const;
    const text = { type: 'varchar', length: '255' };
    await runner.createTable(new Table({ name: 'roles', columns: [id, { name: 'name', ...text }] }));
    await runner.query(`INSERT INTO roles (name) VALUES ('admin'), ('member')`);
    const foreignKeys = [{ columnNames: ['role_id'], referencedTableName: 'roles', referencedColumnNames: ['id'] }];
    const columns = [
      id,
      { name: 'email', ...text, isUnique: true },
      { name: 'password', ...text },
      { name: 'role_id', type: 'integer' },
      { name: 'deleted_at', type: date, isNullable: true },
    ];
    await runner.createTable(new Table({ name: 'users', columns, foreignKeys }));
  }
}

@Controller('whoami')
@UseGuards(BearerAuthGuard)
class UserController {
  @Get()
  user(@CurrentUser() user: object): object {
    return user;
  }
}

describe.each(DATABASES)('an application with migrations and TypeORM 0.3.20 on %s', (name) => {
  const entities = [User, Role, ...AUTH_ENTITIES_WITHOUT_USERS];
  const users = { entity: User, username: 'email', passwordHash: 'password', select: ['roleId'] };
  let app: TestApplication;
  let id: number;
  beforeEach(async () => {
    const database = await databaseForTest(name);
    const migrations = [CreateUsers1700000000000] as never;
    const own = { ...database.options, entities: [User, Role], migrations, migrationsRun: true, synchronize: false };
    const options = withAuthTables(own as DataSourceOptions, { usersTable: false });
    const given = { entities, users: [], auth: { users }, controllers: [UserController] };
    app = await startForTest({ ...database, options }, given);
    const created = await app.auth.createUser({ username: 'alice', password: PASSWORD, properties: { roleId: 1 } });
    id = Number(created.id);
    const { DataSource } = jest.requireActual<typeof import('typeorm')>('typeorm-0.3.20');
    expect(app.dataSource).toBeInstanceOf(DataSource);
  });

  it('a user logs in, refreshes, lists sessions, changes the password and logs out, and reuse is detected', async () => {
    const { access_token: token, refresh_token: used } = await app.login();
    const user = { id, email: 'alice', roleId: 1, role: { id: 1, name: 'admin' }, deletedAt: null };
    await app.get('/whoami', token).expect(200, user);
    const { body: pair } = await app.refresh(used).expect(200);
    expect((await app.get('/auth/sessions', pair.access_token).expect(200)).body).toHaveLength(1);
    const change = { current_password: PASSWORD, new_password: 'a password that is new' };
    const { body: changed } = await app.post('/auth/password/change', pair.access_token, change).expect(200);
    await app.login('alice', change.new_password);
    await app.post('/auth/logout', changed.access_token).expect(200);
    await app.get('/whoami', changed.access_token).expect(401);
    const { refresh_token: first } = await app.login('alice', change.new_password);
    const { body: next } = await app.refresh(first).expect(200);
    await app.refresh(first).expect(400);
    await app.get('/whoami', next.access_token).expect(401);
    expect(app.sent('token_reuse_detected')).toHaveLength(1);
  });

  it('a softly deleted user can neither use tokens nor log in, and is forgotten', async () => {
    const { access_token: token, refresh_token: refresh } = await app.login();
    await app.dataSource.getRepository(User).softDelete({ id });
    await app.get('/whoami', token).expect(401);
    await app.refresh(refresh).expect(400);
    await app.http.post('/auth/login').send({ username: 'alice', password: PASSWORD }).expect(400);
    await app.auth.forgetUser(id);
    expect(await app.dataSource.query('SELECT id FROM auth_sessions')).toEqual([]);
    await app.pruning.prune();
  });
});
