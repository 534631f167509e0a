import type { ButtonHTMLAttributes } from 'preact'

/** Button that submits no form. */
export function Button(props: ButtonHTMLAttributes<HTMLButtonElement>) {
  return <button type="button" class="button" {...props} />
}
