import type { ApplicationTransactions, TransactionManager } from './joined-transaction';

/**
 * Returns the named methods of a service. Each call takes part in the application's transaction.
 * @throws Error if the manager has no open transaction, or belongs to another DataSource
 */
export function inApplicationTransaction<Service extends object, Name extends keyof Service>(
  transactions: ApplicationTransactions,
  manager: TransactionManager,
  service: Service,
  names: readonly Name[],
): Pick<Service, Name> {
  transactions.assertOpen(manager);
  const methods = names.map((name) => {
    const method = (service[name] as (...args: unknown[]) => Promise<unknown>).bind(service);
    return [name, (...args: unknown[]) => transactions.join(manager, () => method(...args))];
  });
  return Object.fromEntries(methods) as Pick<Service, Name>;
}
