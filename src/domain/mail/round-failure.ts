/** `secret`: this machine cannot read the file of the secret. `refused`: the server refuses the credentials. */
export type FailureKind = 'refused' | 'secret' | 'other'

/** A round that cannot go on. Its message is a sentence without words of strangers. */
export class RoundFailure extends Error {
  readonly kind: FailureKind

  constructor(message: string, kind: FailureKind = 'other', options?: ErrorOptions) {
    super(message, options)
    this.name = 'RoundFailure'
    this.kind = kind
  }
}
