// Messages of the server to the page at /_mock. Types only: both sides import them; neither loads the other.

/** The tabs of the page. A stream sends what its tab shows. */
export const views = ["requests", "products", "jobs", "webhooks", "control"] as const;
export type View = (typeof views)[number];

/** One message of the stream: the parts that have changed. */
export interface Frame {
  status?: Status;
  requests?: RequestFrame;
  /** Number of changes of products: the page reads its list again. */
  products?: number;
  jobs?: Jobs;
  webhooks?: Webhooks;
  control?: Control;
}

/** The header of the page, and the numbers of its tabs. */
export interface Status {
  /** The mock's clock, in seconds, as RFC 3339. */
  now: string;
  requests: number;
  /** Whether a request that is kept was rejected or got no response. */
  has_failed: boolean;
  products: number;
  /** Jobs in progress, among the newest. */
  running: number;
  /** Deliveries that are not over. */
  pending: number;
  faults: number;
  /** Whether the mock has real data, and so no public key. */
  has_secret_keys: boolean;
}

export interface RequestFrame {
  /** Changes with a reset or restart of the mock, whose requests are numbered from 1 again. */
  life: string;
  /** The number of the newest request. */
  total: number;
  rows: RequestRow[];
}

export interface RequestRow {
  number: number;
  at: string;
  method: string;
  /** At most 500 characters. */
  path: string;
  /** Null while it runs, and for a lost response. */
  status: number | null;
  isOver: boolean;
  duration_ms: number | null;
  /** A key of the mock, `***` for any other, null without one. */
  key: string | null;
  idempotency_key: string | null;
  replayed: boolean;
  faults: number[];
  code: string | null;
}

/** A request, and why it got its response. */
export interface RequestDetail {
  row: RequestRow;
  request: {
    path: string;
    request_id: string;
    headers: Record<string, string>;
    body?: Body | null;
    response?: { headers: Record<string, string>; body: Body | null } | null;
  };
  /** The first request with the same idempotency key; null if it has none, or is not kept. */
  first: RequestRow | null;
  /** The faults that acted on it; those that were removed have only a number. */
  faults: Fault[];
}

interface Body {
  content: string;
  encoding: "utf8" | "base64";
  bytes: number;
  note?: string;
}

/** A fault as it was ordered, with the beginning of its headers and body as text. */
export type Fault = { id: number; acted?: number } & Record<string, unknown>;

export interface ProductPage {
  data: ProductCard[];
  next_cursor: string | null;
}

export interface ProductCard {
  id: string;
  reference: string | null;
  name: string;
  sex: string | null;
  images: { id: string; orientation: string; origin: string }[];
}

export interface ProductDetail extends ProductCard {
  description: string | null;
  created_at: string;
  updated_at: string;
  generations: { id: string; role: string; angle_shot: string; background: string }[];
}

/** The newest jobs of each kind, newest first. */
export interface Jobs {
  imports: ImportCard[];
  exports: ExportCard[];
  tasks: TaskCard[];
}

interface JobCard {
  id: string;
  organization: string;
  status: string;
  created_at: string;
  finished_at: string | null;
  /** From 0 to 1. */
  progress: number;
}

export interface ImportCard extends JobCard {
  mode: string;
  total: number;
  succeeded: number;
  partial: number;
  failed: number;
  /** The first rows with a problem. */
  problems: { line: number; reference: string; status: string; reason: string }[];
}

export interface ExportCard extends JobCard {
  format: string;
  products: number;
  assets: number;
  error: string | null;
}

export interface TaskCard extends JobCard {
  type: string;
  subtype: string | null;
  product_id: string;
  reference: string;
  angle_shot: string;
  background: string;
  model: string | null;
  /** The first photo of the product, and the output; null without one. */
  photo: string | null;
  output: string | null;
  error: string | null;
}

export interface Webhooks {
  webhooks: {
    id: string;
    organization: string;
    url: string;
    events: string[];
    status: string;
    description: string | null;
    last_delivery_at: string | null;
  }[];
  /** Newest first. */
  deliveries: DeliveryCard[];
}

export interface DeliveryCard {
  id: string;
  event_id: string;
  type: string;
  webhook_id: string;
  url: string;
  state: string;
  attempts: { at: string; status: number | null; error: string | null; signature: string }[];
  next_attempt_at: string | null;
  event: unknown;
}

export interface Control {
  speed: number;
  accounts: {
    organization: string;
    credits: number | null;
    reads: RateUse;
    writes: RateUse;
    /** End of the window, in seconds since the epoch. */
    reset: number;
  }[];
  faults: Fault[];
}

/** Requests of the current minute; the limit is null if there is none. */
export interface RateUse {
  used: number;
  limit: number | null;
}
