/** The status of a user's account. Only an `active` user can log in and use sessions. */
export type AccountStatus = 'active' | 'disabled' | 'deleted';
