// What the JSON API answers with; docs/explore.md describes the same.

export interface Rule {
  kind: string;
  people: number[];
  says: string;
  broken: number;
  where: number[]; // the clusters in which it is broken
  cluster?: number;
  clusters?: number[];
  bounds?: [number | null, number | null][];
  least?: number;
  most?: number;
  attribute?: string;
  value?: string;
  within?: number;
}

export interface Scores {
  even: number | null;
  even_by_attribute: Record<string, number>;
  even_by_cluster: number[];
  kept: number;
  wished: number;
  cohesion: number;
}

export interface Point {
  even: number;
  kept: number;
}

export interface Alternative extends Point {
  labels: number[];
  moved: number | null;
}

export interface Costs {
  rules: number[];
  attributes: Record<string, number>;
}

export interface State {
  revision: number;
  step: number;
  can_undo: boolean;
  can_redo: boolean;
  what: string;
  labels: number[];
  clusters: string[];
  locked: number[];
  even: string[];
  rules: Rule[];
  scores: Scores | null;
  curve: { points: Point[]; here: number | null; current: boolean };
  alternatives: Alternative[];
  costs: Costs | null;
  kept: boolean;
  said: string[];
}

export interface Board {
  title: string;
  mark: string;
  people: string[];
  attributes: Record<string, string[]>;
  wishes: number[][];
  directed: boolean;
  notes: string[];
  restored: boolean;
  state: State;
}

export interface Option {
  cluster: number;
  here: boolean;
  friends: number[];
  kept: number;
  even: number | null;
  breaks: number[];
  mends: number[];
}

export interface Why {
  who: number;
  locked: boolean;
  options: Option[];
}

export interface Job {
  number: number;
  kind: string;
  status: "running" | "done" | "failed" | "cancelled";
  stage: string;
  step: number;
  total: number;
  error: string;
}

export interface Drawn {
  kind: "people" | "clusters";
  x: number[];
  y: number[];
  links: number[];
}

export interface Column {
  letter: string;
  header: string;
  role: string; // empty where it has to be asked for
}

export interface Preview {
  unknown: { text: string; place: string; near: string[] }[];
  said: string;
  notes: string[];
}

export interface Inspected {
  key: string;
  kind: "people" | "links" | "board";
  name: string;
  error?: string;
  rows?: string[][];
  columns?: Column[];
  n_rows?: number;
  people?: number;
}

export interface KeptBoard {
  mark: string;
  title: string;
  changed: number;
}

// Where boards come from and what can be done to them: the server, or a page that was saved.
export interface Source {
  live: boolean;
  board(): Promise<Board>;
  state(): Promise<State>;
  act(told: Record<string, unknown>): Promise<State>;
  graph(): Promise<Drawn>;
}
