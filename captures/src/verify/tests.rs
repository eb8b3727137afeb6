use super::*;
use crate::catalog::Catalog;

#[test]
fn no_embedded_capture_has_a_finding() {
    let catalog = Catalog::embedded();
    let mut wrong = Vec::new();
    for listed in catalog.iter() {
        let capture = catalog.get(listed.provider, listed.version, listed.scene).unwrap();
        wrong.extend(tape(&capture).into_iter().map(|finding| format!("{}: {finding:?}", listed.file)));
    }
    assert_eq!(wrong, Vec::<String>::new());
}
