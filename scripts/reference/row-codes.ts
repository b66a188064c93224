import { urlNoteKinds } from "../../src/flows/rows/url-notes.ts";

/** Codes of one topic, with what to do about each. */
export interface CodeGroup {
  readonly title: string;
  readonly codes: Readonly<Record<string, string>>;
}

export const again = "Run the same command again.";
export const otherFile = "Choose another file.";
export const saveAgain = "Open the workbook in a spreadsheet program, and save it again.";
const asText = "Format the column as Text, and type the value again.";

/** The codes of problems in files of rows, and of results of rows, images and decisions. */
export const rowCodeGroups: readonly CodeGroup[] = [
  {
    title: "ZIPs and workbooks",
    codes: {
      not_a_zip: "Download the file again.",
      damaged_zip: "Download the ZIP again.",
      unsupported_zip: "Extract the ZIP with another program.",
      unsafe_zip: "Do not extract the ZIP: it is not as the service makes them.",
      which_sheet: "Add --sheet with one of the sheets in the message.",
      unknown_sheet: "Use one of the sheets in the message.",
      no_sheet: otherFile,
      damaged_workbook: saveAgain,
      encrypted_workbook: "Save a copy without the password.",
      error_cell: "Correct the formula or the value of the cell.",
      formula_without_value: saveAgain,
      too_many_digits: asText,
      date_in_text: asText,
      shown_differently: asText,
      image_in_cell: "Use the URL of the picture, or the name of a file.",
    },
  },
  {
    title: "Rows of a file",
    codes: {
      error_text: "Correct the formula, and save the sheet again.",
      lost_digits:
        "Import the original workbook itself, or save it as CSV again with the column as Number without decimals. For codes like that, add --codes-as-written.",
      narrow_column: "Widen the column, and save the sheet again.",
      lost_characters: "Save the sheet again from its original, as UTF-8.",
      invalid_rows: "Fix the rows that are listed, or add --skip-invalid.",
      unknown_column: "Rename the column, or use --map.",
      missing_column: "Add the column, or use --map.",
      duplicate_header: "Rename one of the two columns.",
      too_many_columns: "Remove columns without a header.",
      lookalike_reference: "Change one of the two references in the message, or write both alike.",
      unseen_character: "Type the reference again.",
      unseen_ends: "Nothing to do: what could not be seen was removed.",
      duplicate_input: "Remove one of the rows, or add --allow-duplicates.",
      duplicate_image: "Remove one of the images.",
      contradicting_rows: "Correct the rows, so that those of one reference agree.",
      empty_file: "Add rows, or choose another file.",
      merged_cells: "Split the cells, and fill each of them.",
      link_differs: "Make the text and the target of the link the same.",
      nul_byte: "Save the file again as text.",
      ragged_row: "Add or remove cells, so that the row has as many as the header.",
      record_too_long: "Check that the file has rows, with at most 1 MiB each.",
      stray_quote:
        "Save the sheet as CSV again, or as .xlsx; or double the quote, and put quotes around the cell.",
      unclosed_quote: "Close the quote in the cell.",
      wrong_encoding: "Add --encoding with the encoding of the file.",
      wrong_format: "Save the file again in one format, or add --format or --delimiter, as the message says.",
      not_a_row: "Remove the line: it is a total, a header or a remark of a program.",
      map_file: "Fix catalogue.map.json.",
      invalid_map_file: "Fix catalogue.map.json.",
      other_mapping: "Use the columns of the first run, or add --fresh.",
      unlisted_value: "Read it as a known value with --map-value, or send it: the service decides about it.",
      sex_mismatch: "Check the model of these products.",
    },
  },
  {
    title: "Photos",
    codes: {
      photo_not_found: "Check the path of the photo.",
      photo_not_readable: "Check the permissions of the photo.",
      photo_outside_root: "Add --images-outside, or move the photo.",
      photo_damaged: "Download it again: cat export sync DIR --verify",
      damaged_image: "A part of the photo is missing: copy or download it again.",
      cmyk_photo: "A note: add --convert to upload such photos in sRGB.",
      turned_photo: "A note: add --convert to upload such photos upright.",
      unmergeable_rows: "A note: correct what it names, and add --merge-rows.",
      same_photo: "A note: check that the products share the photo.",
      small_photo: "A note: check that the URL is not that of a preview.",
      misread_name: "Rename the file, or unpack the ZIP with another program.",
      photo_changed: "The photo changed while it was read: run the command again.",
      images_root_not_found: "Check --images-root.",
      no_photos: "Check the folder and --pattern.",
      too_many_photos: "Use at most 20 photos per product.",
      ambiguous_photo: "Rename one of the photos.",
      too_large: "Use a photo of at most 10 MB, or add --convert.",
      not_an_image: "Use a JPEG, PNG or WebP file, or add --convert.",
      not_convertible: "Save the photo as JPEG.",
      photos_missing: "Import the failed file to add the missing photos.",
      http_error: "Check that the URL of the photo opens without signing in.",
      timeout: "Use a faster server for the photo, or upload the file.",
      dns_failed: "Check the host of the URL.",
      blocked_host: "Use a public https:// URL, or upload the file.",
    },
  },
  {
    title: "Notes on headers and URLs",
    codes: {
      lines_above_header: "Check that the first line that was read has the names of the columns.",
      ...Object.fromEntries(Object.entries(urlNoteKinds).map(([code, { hint }]) => [code, hint])),
    },
  },
  {
    title: "Results of rows and images",
    codes: {
      part_failed: "See the output for the parts that failed.",
      rows_failed: "Fix the failed file, and import it.",
      row_failed: "See the error of the row.",
      image_failed: "Check the URLs of the photos of the row.",
      no_images: "Add a photo to the row.",
      too_many_attempts: again,
      model_unsafe_content: "Use another product, background or angle.",
      product_mismatch: "Fix the ID or the reference.",
      model_ambiguous: "Use the ID of the model.",
      more_problems: "See the results file, or the output of the command.",
      images_failed: again,
      images_missing: "Check whether their products were deleted.",
      export_failed: "Run the command again: it starts a new export.",
      import_failed: "Import the failed file.",
      not_sent: again,
      call_refused: "See the error of the batch: other rows of it were rejected.",
      bad_results: again,
      asset_gone: again,
      ambiguous_names: "Use cat export sync DIR --approved.",
      no_decisions: "Decide about the images on the page, and record the file or add --decisions FILE.",
      no_task: "Use the file that the review page wrote.",
      duplicate_decision: "Keep one decision per image.",
      edited_decision: "Restore the row, and change only decision and note.",
      incomplete_decisions: "Decide about every image of the page.",
      invalid_decision: "Use approve or reject.",
      invalid_decisions: "Fix the rows that are listed.",
      invalid_time: "Use the time that the review page wrote.",
      nothing_rejected: "Nothing to do: no image was rejected.",
      run_not_found: "Use the run_id of a summary on this machine.",
    },
  },
];
