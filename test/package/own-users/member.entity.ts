import { foldName } from 'nestjs-session-auth';
import {
  BeforeInsert,
  BeforeUpdate,
  Column,
  DeleteDateColumn,
  Entity,
  PrimaryGeneratedColumn,
  type DataSource,
} from 'typeorm';
import { People } from './people.js';

/** The users table of the application, which the library maps. */
@Entity('members')
export class Member {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ type: 'varchar' })
  email!: string;

  @Column({ type: 'varchar', unique: true, select: false })
  foldedEmail!: string;

  @Column({ type: 'varchar', nullable: true, select: false })
  password!: string | null;

  @Column({ type: Date, nullable: true })
  disabledAt!: Date | null;

  @DeleteDateColumn()
  deletedAt!: Date | null;

  @BeforeInsert()
  @BeforeUpdate()
  foldEmail(): void {
    if (this.email !== undefined) this.foldedEmail = foldName(this.email);
  }
}

/** The application's own operations on its table. */
export class Members extends People {
  constructor(private readonly dataSource: DataSource) {
    super();
  }

  async idOf(email: string): Promise<number | null> {
    return (await this.table.findOneBy({ email }))?.id ?? null;
  }

  async insert(id: number, email: string, password: string): Promise<void> {
    await this.table.save(this.table.create({ id, email, password, disabledAt: null }));
  }

  async remove(id: number): Promise<void> {
    await this.table.delete(id);
  }

  async setBlocked(id: number, isBlocked: boolean): Promise<void> {
    await this.table.update(id, { disabledAt: isBlocked ? new Date() : null });
  }

  async setDeleted(id: number, isDeleted: boolean): Promise<void> {
    if (isDeleted) await this.table.softDelete(id);
    else await this.table.restore(id);
  }

  private get table() {
    return this.dataSource.getRepository(Member);
  }
}
