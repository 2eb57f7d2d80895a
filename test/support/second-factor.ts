import { SecondFactor } from 'nestjs-session-auth';

/** Returns a second factor that is required if the function returns true. */
export function secondFactorIf(isRequired: SecondFactor['isRequired']): SecondFactor {
  class SecondFactorOfSome extends SecondFactor {
    isRequired = isRequired;
  }
  return new SecondFactorOfSome();
}
