import { createHash, randomBytes } from 'node:crypto';
import {
  Column,
  DataSource,
  Entity,
  Index,
  ManyToOne,
  PrimaryColumn,
  type DataSourceOptions,
  type Relation,
} from 'typeorm';
import { DAY_MS, times, type Headers } from './contender';

/** A typical hand-written user entity. */
@Entity('users')
export class PlainUser {
  @PrimaryColumn({ type: 'varchar', length: 36 })
  id!: string;

  @Column({ type: 'varchar', length: 255 })
  username!: string;

  @Column({ type: Boolean })
  active!: boolean;
}

/** A typical hand-written session entity. Guards find a session by the digest of its token. */
@Entity('sessions')
export class PlainSession {
  @PrimaryColumn({ type: 'varchar', length: 36 })
  id!: string;

  @Index({ unique: true })
  @Column({ type: 'varchar', length: 64 })
  digest!: string;

  @Column({ type: 'bigint', name: 'expires_at' })
  expiresAt!: string;

  @ManyToOne(() => PlainUser)
  user!: Relation<PlainUser>;
}

export const PLAIN_ENTITIES = [PlainUser, PlainSession];

export function digestOf(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

/** Returns the token of an `Authorization: Bearer` header. */
export function tokenOf(header: string | undefined): string {
  return header?.startsWith('Bearer ') ? header.slice(7) : '';
}

/** Creates and fills the tables. Returns the request headers of each session. */
export async function fillPlainTables(database: DataSourceOptions, sessions: number): Promise<readonly Headers[]> {
  const dataSource = await new DataSource({ ...database, entities: PLAIN_ENTITIES, synchronize: true }).initialize();
  try {
    const expiresAt = String(new Date().getTime() + DAY_MS);
    const tokens = times(sessions, () => randomBytes(32).toString('base64url'));
    const users = tokens.map((_, index) => ({ id: `u${index}`, username: `user ${index}`, active: true }));
    await dataSource.getRepository(PlainUser).insert(users);
    const rows = tokens.map((token, index) => ({
      id: `s${index}`,
      digest: digestOf(token),
      expiresAt,
      user: users[index]!,
    }));
    await dataSource.getRepository(PlainSession).insert(rows);
    return tokens.map((token) => ({ authorization: `Bearer ${token}` }));
  } finally {
    await dataSource.destroy();
  }
}
