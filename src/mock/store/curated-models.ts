import type { ModelRecord, Organization } from "./organization.ts";

const curated = (
  id: string,
  name: string,
  sex: "male" | "female" | "other",
  [body_type, age_bracket, ethnicity, hair_color, eye_color]: readonly [
    string,
    string,
    string,
    string,
    string,
  ],
): ModelRecord => ({
  id,
  name,
  is_public: true,
  sex,
  body_type,
  age_bracket,
  ethnicity,
  hair_color,
  eye_color,
});

/** The models that every organization can use; their IDs are short (Model). */
export const curatedModels: readonly ModelRecord[] = [
  curated("mdl_001", "Amara", "female", ["slim", "18-24", "black", "black", "brown"]),
  curated("mdl_002", "Bastian", "male", ["athletic", "25-34", "white", "blond", "blue"]),
  curated("mdl_003", "Chiyo", "female", ["average", "25-34", "asian", "black", "brown"]),
  curated("mdl_004", "Diego", "male", ["average", "35-44", "hispanic", "brown", "brown"]),
  curated("mdl_005", "Esra", "female", ["curvy", "25-34", "middle-eastern", "brown", "hazel"]),
  curated("mdl_006", "Femi", "male", ["slim", "18-24", "black", "black", "brown"]),
  curated("mdl_007", "Greta", "female", ["average", "45-54", "white", "grey", "green"]),
  curated("mdl_008", "Haruto", "male", ["slim", "25-34", "asian", "black", "brown"]),
  curated("mdl_009", "Ines", "female", ["athletic", "35-44", "hispanic", "brown", "brown"]),
  curated("mdl_010", "Jules", "other", ["slim", "25-34", "white", "red", "grey"]),
  curated("mdl_011", "Kiran", "other", ["average", "18-24", "south-asian", "black", "brown"]),
  curated("mdl_012", "Leila", "female", ["plus", "35-44", "mixed", "black", "hazel"]),
];

/** The model with that ID: one of the organization or a curated one. */
export const findModel = (organization: Organization, id: string): ModelRecord | undefined =>
  organization.models.find((own) => own.id === id) ?? curatedModels.find((curated) => curated.id === id);
