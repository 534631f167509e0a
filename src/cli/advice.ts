// What an operator can do about an error, as a command or an option.

import type { Advice } from '../errors.ts'

/** How the line of an error goes on. */
export function adviceText(advice: Advice): string {
  switch (advice.about) {
    case 'companies':
      return ': see cambista company list'
    case 'providers':
      return ': see cambista provider list'
    case 'series':
      return ': see cambista series list'
    case 'conversion':
      return ''
    case 'new-secret':
      return `: make a new one with cambista ${advice.kind} create`
    case 'expiry':
      return ': give --expires DATE, the last day of its new secret'
    case 'company-change':
      return ' (cambista company update changes it)'
    case 'directory-change':
      return ' (cambista directory import changes what is there)'
    case 'own-id':
      return `: choose one for the ${advice.kind} with --id`
  }
}
