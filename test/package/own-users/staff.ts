import { Injectable } from '@nestjs/common';
import { UserStore, type NewUser, type StoredUser } from 'nestjs-session-auth';
import { Column, DataSource, Entity, PrimaryColumn } from 'typeorm';
import { People } from './people.js';

type Status = 'active' | 'blocked' | 'gone';

/** Another users table, with the status as text and with numeric ids that the application reuses. */
@Entity('staff')
export class Employee {
  @PrimaryColumn({ type: 'int' })
  staffNumber!: number;

  @Column({ type: 'varchar', unique: true })
  login!: string;

  @Column({ type: 'varchar', nullable: true })
  secret!: string | null;

  @Column({ type: 'varchar' })
  status!: Status;
}

/** Finds names regardless of case and surrounding spaces, as a careless query does. */
@Injectable()
export class StaffStore extends UserStore {
  constructor(private readonly dataSource: DataSource) {
    super();
  }

  async findByUsername(username: string): Promise<StoredUser | null> {
    return stored(
      await this.table
        .createQueryBuilder('employee')
        .where('LOWER(employee.login) = LOWER(TRIM(:username))', { username })
        .getOne(),
    );
  }

  async findById(id: number): Promise<StoredUser | null> {
    return stored(await this.table.findOneBy({ staffNumber: id }));
  }

  override async load(id: number): Promise<{ email: string } | null> {
    const found = await this.table.findOneBy({ staffNumber: id });
    return found && { email: found.login };
  }

  override parseId(text: string): number {
    return Number(text);
  }

  override async setPasswordHash(id: number, secret: string, expected?: string): Promise<boolean> {
    const condition = { staffNumber: id, ...(expected === undefined ? {} : { secret: expected }) };
    return ((await this.table.update(condition, { secret })).affected ?? 0) > 0;
  }

  override async setActive(id: number, active: boolean): Promise<boolean> {
    const status = active ? 'active' : 'blocked';
    return ((await this.table.update({ staffNumber: id }, { status })).affected ?? 0) > 0;
  }

  /** Takes the lowest unused number. */
  override async create({ username, passwordHash }: NewUser): Promise<StoredUser | null> {
    const taken = new Set((await this.table.find()).map(({ staffNumber }) => staffNumber));
    let staffNumber = 1;
    while (taken.has(staffNumber)) staffNumber++;
    await this.table.insert({ staffNumber, login: username, secret: passwordHash, status: 'active' });
    return this.findById(staffNumber);
  }

  private get table() {
    return this.dataSource.getRepository(Employee);
  }
}

function stored(employee: Employee | null): StoredUser | null {
  if (!employee || employee.status === 'gone') return null;
  const { staffNumber, login, secret, status } = employee;
  return { id: staffNumber, username: login, passwordHash: secret, active: status === 'active' };
}

/** The application's own operations on its table. */
export class Staff extends People {
  constructor(private readonly dataSource: DataSource) {
    super();
  }

  async idOf(email: string): Promise<number | null> {
    return (await this.table.findOneBy({ login: email }))?.staffNumber ?? null;
  }

  async insert(id: number, email: string, secret: string): Promise<void> {
    await this.table.insert({ staffNumber: id, login: email, secret, status: 'active' });
  }

  async remove(id: number): Promise<void> {
    await this.table.delete(id);
  }

  async setBlocked(id: number, isBlocked: boolean): Promise<void> {
    await this.setStatus(id, isBlocked ? 'blocked' : 'active');
  }

  async setDeleted(id: number, isDeleted: boolean): Promise<void> {
    await this.setStatus(id, isDeleted ? 'gone' : 'active');
  }

  private async setStatus(id: number, status: Status): Promise<void> {
    await this.table.update({ staffNumber: id }, { status });
  }

  private get table() {
    return this.dataSource.getRepository(Employee);
  }
}
