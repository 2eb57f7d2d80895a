import { Injectable } from '@nestjs/common';
import { UserStore, type NewUser, type StoredUser } from 'nestjs-session-auth';
import { Column, DataSource, Entity, PrimaryGeneratedColumn } from 'typeorm';

/** The users table of the application. The library maps it, or `MemberStore` reads and writes it. */
@Entity('members')
export class Member {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ type: 'varchar', unique: true })
  email!: string;

  @Column({ type: 'varchar', nullable: true, select: false })
  password!: string | null;

  @Column({ type: Date, nullable: true })
  disabledAt!: Date | null;
}

@Injectable()
export class MemberStore extends UserStore {
  constructor(private readonly dataSource: DataSource) {
    super();
  }

  findByUsername(email: string): Promise<StoredUser | null> {
    return this.find('member.email = :value', email);
  }

  findById(id: number): Promise<StoredUser | null> {
    return this.find('member.id = :value', id);
  }

  override load(id: number): Promise<Member | null> {
    return this.members.findOneBy({ id });
  }

  override parseId(text: string): number {
    return Number(text);
  }

  override async setActive(id: number, active: boolean): Promise<boolean> {
    return ((await this.members.update(id, { disabledAt: active ? null : new Date() })).affected ?? 0) > 0;
  }

  override async create({ username, passwordHash }: NewUser): Promise<StoredUser | null> {
    await this.members.insert({ email: username, password: passwordHash });
    return this.findByUsername(username);
  }

  private async find(where: string, value: string | number): Promise<StoredUser | null> {
    const query = this.members.createQueryBuilder('member').addSelect('member.password');
    const member = await query.where(where, { value }).getOne();
    if (!member) return null;
    const { id, email, password, disabledAt } = member;
    return { id, username: email, passwordHash: password, active: disabledAt === null };
  }

  private get members() {
    return this.dataSource.getRepository(Member);
  }
}
