import { lazyView } from '../components/lazy-view.tsx'

export const AddSecret = lazyView(() => import('./doors.tsx').then((file) => file.AddSecret))
export const NeedsSecret = lazyView(() => import('./doors.tsx').then((file) => file.NeedsSecret))
export const OneTimeLink = lazyView(() => import('./doors.tsx').then((file) => file.OneTimeLink))
export const SignIn = lazyView(() => import('./doors.tsx').then((file) => file.SignIn))
