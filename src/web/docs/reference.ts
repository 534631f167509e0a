// API reference at /docs/reference: Scalar over /openapi.json. Options that contact another server or store a secret are
// off; the policy of http/web/assets.ts blocks them too.

type Scalar = { createApiReference(element: string, configuration: object): void }

const { Scalar } = window as unknown as { Scalar: Scalar }

Scalar.createApiReference('#reference', {
  url: '/openapi.json',
  telemetry: false,
  withDefaultFonts: false,
  proxyUrl: '',
  agent: { disabled: true },
  mcp: { disabled: true },
  hideClientButton: true,
  hiddenClients: true, // its own commands lack credentials; those of the description are tested
  showDeveloperTools: 'never',
  persistAuth: false,
  baseServerURL: location.origin,
  documentDownloadType: 'json',
})
