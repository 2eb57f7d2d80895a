/** Whether a user may be signed in. */
export type AccountStatus = 'active' | 'disabled' | 'deleted';
