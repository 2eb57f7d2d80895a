import { AUTH_ENTITIES } from 'nestjs-session-auth';
import type { Type } from '@nestjs/common';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { describeHttp, userIdOf } from '../support/environment';
import { blocksUnder } from './code-blocks';
import { runBlock } from './run-block';

@Entity('memberships')
class Membership {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ type: 'varchar' }) userId!: string;
  @Column({ type: 'integer' }) organizationId!: number;
}

const [block] = blocksUnder('docs/session-data.md', '## Switch the active organization');
const modules = { './membership.entity.js': { Membership } };
const { OrganizationsController } = runBlock<Record<string, Type>>(block!, { modules });
const options = { controllers: [OrganizationsController!], entities: [...AUTH_ENTITIES, Membership] };

describeHttp('the route that switches the active organization in docs/session-data.md', options, ({ app }) => {
  it('a member switches the organization of the current session only, and nobody else', async () => {
    const memberships = app.dataSource.getRepository(Membership);
    await memberships.save({ userId: await userIdOf(app), organizationId: 7 });
    const [first, second] = [(await app.login()).access_token, (await app.login()).access_token];
    const activate = (token: string, id: number | string) =>
      app.http.put(`/organizations/${id}/active`).set('Authorization', `Bearer ${token}`);
    const active = (token: string) => app.get('/organizations/active', token);
    await active(first).expect(200, { organizationId: null });
    await activate(first, 7).expect(204);
    await activate(first, 8).expect(403);
    await activate((await app.login('bob')).access_token, 7).expect(403);
    await active(first).expect(200, { organizationId: 7 });
    await active(second).expect(200, { organizationId: null });
    await memberships.clear();
    await active(first).expect(403);
  });
});
