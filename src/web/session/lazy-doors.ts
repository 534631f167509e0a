import { lazyView } from '../components/lazy-view.tsx'

export const AddSecret = lazyView(() => import('./doors.tsx'), 'AddSecret')
export const NeedsSecret = lazyView(() => import('./doors.tsx'), 'NeedsSecret')
export const OneTimeLink = lazyView(() => import('./doors.tsx'), 'OneTimeLink')
export const SignIn = lazyView(() => import('./doors.tsx'), 'SignIn')
